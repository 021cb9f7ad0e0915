"""What the pages draw: one module a page, of the page's name."""
