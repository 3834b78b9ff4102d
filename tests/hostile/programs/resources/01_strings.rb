# A string that doubles.
# limits: memory_mb=64
# ends: memory

text = "hostile"
text += text while true
