# Ruby, with a child in each child.
# limits: processes=64 wall_ms=20000
# ends: processes

def bomb
  2.times { fork { bomb } }
  sleep
end

bomb
