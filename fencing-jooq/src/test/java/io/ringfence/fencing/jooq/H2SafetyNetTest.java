package io.ringfence.fencing.jooq;

import org.jooq.SQLDialect;

/** The net on H2. */
class H2SafetyNetTest extends SafetyNetContract {

    H2SafetyNetTest() {
        super(h2(), SQLDialect.H2, "\"fencing_token\"");
    }
}
