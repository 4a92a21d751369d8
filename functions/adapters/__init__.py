"""The only folder that knows AWS: each adapter provides one port."""
