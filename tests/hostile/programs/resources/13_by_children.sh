# Floods through ten children, none of which writes much.
# limits: flood_bytes=4000000 wall_ms=30000
# ends: output

for child in {1..10}; do
    head --bytes 1000000 /dev/zero &
done
wait
sleep 10
