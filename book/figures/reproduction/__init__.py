"""What the reproduction pages draw."""
