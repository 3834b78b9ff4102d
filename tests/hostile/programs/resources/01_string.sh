# A shell variable that doubles.
# limits: memory_mb=64
# ends: memory

text=hostile
while true; do
    text=$text$text
done
