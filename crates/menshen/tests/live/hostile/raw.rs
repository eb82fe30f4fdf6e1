//! The positive control. Start at the test.
