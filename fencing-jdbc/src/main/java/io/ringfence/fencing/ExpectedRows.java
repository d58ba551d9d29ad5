package io.ringfence.fencing;

/**
 * How many rows a fenced statement is to write; anything else makes it fail.
 *
 * <p>Where the number is left open, a statement that wrote some rows may have skipped others that a newer leader holds. So
 * {@link #atLeastOne()} and {@link #any()} add one read behind each statement, which looks for rows that match and carry a
 * higher token. It sees what is committed at that moment: rows that the newer leader has changed so that they match no
 * longer are not found, and count as rows that never matched. Nor are they if what the statement itself wrote makes
 * its condition false for them, as a sub-select on the same table can.
 *
 * <p>Immutable and thread-safe.
 */
public final class ExpectedRows {
    private static final ExpectedRows ONE = new ExpectedRows(1, 1, true);
    private static final ExpectedRows AT_LEAST_ONE = new ExpectedRows(1, Long.MAX_VALUE, true);
    private static final ExpectedRows ANY = new ExpectedRows(0, Long.MAX_VALUE, true);
    private static final ExpectedRows UNCHECKED = new ExpectedRows(0, Long.MAX_VALUE, false);

    private final long minimum;
    private final long maximum;
    private final boolean checked;

    private ExpectedRows(long minimum, long maximum, boolean checked) {
        this.minimum = minimum;
        this.maximum = maximum;
        this.checked = checked;
    }

    /** {@return exactly one row; the default} */
    public static ExpectedRows one() {
        return ONE;
    }

    /**
     * {@return exactly this many rows}
     *
     * @param rows how many, at least 1
     * @throws IllegalArgumentException if it is less
     */
    public static ExpectedRows exactly(long rows) {
        if (rows < 1) {
            throw new IllegalArgumentException("exactly(" + rows
                    + "): a write is expected to write at least one row; where it may be none, use any()");
        }
        return new ExpectedRows(rows, rows, true);
    }

    /** {@return one row or more, and none that a newer leader holds} */
    public static ExpectedRows atLeastOne() {
        return AT_LEAST_ONE;
    }

    /** {@return any number of rows, none too, and none that a newer leader holds} */
    public static ExpectedRows any() {
        return ANY;
    }

    /**
     * {@return no expectation: rows that a newer leader holds are skipped in silence} They are still protected; only the
     * caller is not told. For clean-up that the newer leader repeats anyway.
     */
    public static ExpectedRows unchecked() {
        return UNCHECKED;
    }

    /** {@return the least number of rows that is right} */
    public long minimum() {
        return minimum;
    }

    /** {@return the greatest number of rows that is right} */
    public long maximum() {
        return maximum;
    }

    /** {@return whether the number of rows is looked at; false for {@link #unchecked()} only} */
    public boolean isChecked() {
        return checked;
    }

    /** {@return whether more than one number of rows is right, so that skipped rows have to be looked for} */
    public boolean isOpen() {
        return checked && minimum < maximum;
    }

    @Override
    public String toString() {
        if (!checked) {
            return "unchecked";
        }
        return maximum == Long.MAX_VALUE ? "at least " + minimum : "exactly " + minimum;
    }
}
