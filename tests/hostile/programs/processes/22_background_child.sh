# 22. A child in the background keeps stdout open. `test_prompt_return.py` has a look at the clock.
# limits: wall_ms=60000
# ends: exit 0
# says: done

sleep 50 &
echo done
