"""What people do with topics: look at them, and at documents through them."""
