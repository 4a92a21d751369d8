"""What a video comes to as text: the question, the answer, the result, and how it is checked."""
