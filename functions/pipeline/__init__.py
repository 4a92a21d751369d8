"""What happens: one file per stage, over ports only. Read these and you know the product."""
