-- Reads n, prints the moves that bring a tower of n discs to the last peg.
local function move(n, from, to, via)
    if n == 0 then return end
    move(n - 1, from, via, to)
    print(from .. " -> " .. to)
    move(n - 1, via, to, from)
end

move(io.read("n"), "A", "C", "B")
