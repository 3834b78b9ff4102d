# Closes its streams at once. That is nobody's business but its own.
# ends: exit 3

exec <&- >&- 2>&-
sleep 0.2
exit 3
