-- Tables that hold tables.
-- limits: memory_mb=64
-- ends: memory

local hoard = {}
while true do
    hoard[#hoard + 1] = {1, 2, 3}
end
