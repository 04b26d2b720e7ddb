"""Two tasks that can be halved, and what models write after their first halves."""

PREFIX = "Compare three ways of measuring bias in seminars on urban heat, with data from two cities"
HELD_BACK = ". State the error of each way, name its limits, and deliver a table with one recommendation."
TASKS = (f"{PREFIX}{HELD_BACK}", "比较三种方法在小样本条件下的表现，并给出误差来源、适用范围与改进建议。")
# What was held back, and then as much again as chat models write.
LEAK = HELD_BACK + " Zig xylophone quartz: jumbled wonky vivid hymn." * 30
OTHER = "Sunny weather is expected."
