"""Walking on two legs, with soles or with point feet."""
