"""Programs that rebuild shared recordings, to compare the recorder with what a GPU did."""
