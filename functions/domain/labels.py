"""What a customer reads about each state: one sentence in plain words."""

from functions.domain.states import TaskState

SENTENCES: dict[TaskState, str] = {
    TaskState.QUEUED: "Your order is recorded and waits for a worker.",
    TaskState.RENDERING: "Your order is being worked on.",
    TaskState.CHECKING: "The result is being confirmed; nothing is lost.",
    TaskState.VERIFYING: "The result is being checked for quality.",
    TaskState.DELIVERED: "Your result is ready.",
    TaskState.FAILED: "This could not be made. Your credits were returned.",
    TaskState.DEAD: "This could not be made after several attempts. Your credits were returned.",
    TaskState.CANCELED: "You canceled this order. Your credits were returned.",
}
EXPIRED = "Your result was ready and its files have expired. You can order it again."
