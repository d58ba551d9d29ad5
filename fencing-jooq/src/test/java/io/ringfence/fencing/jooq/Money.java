package io.ringfence.fencing.jooq;

import org.jooq.impl.AbstractConverter;
import org.jspecify.annotations.Nullable;

/** A type of the user's own, which jOOQ converts. */
public record Money(long cents) {

    /** How it is stored. */
    public static final class OfLong extends AbstractConverter<Long, Money> {
        private static final long serialVersionUID = 1L;

        public OfLong() {
            super(Long.class, Money.class);
        }

        @Override
        public @Nullable Money from(@Nullable Long cents) {
            return cents == null ? null : new Money(cents);
        }

        @Override
        public @Nullable Long to(@Nullable Money money) {
            return money == null ? null : money.cents();
        }
    }
}
