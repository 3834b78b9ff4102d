"""What runs on the other side: standard library only, and as little of that as will do."""
