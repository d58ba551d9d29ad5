package io.ringfence.fencing.jooq;

import org.jooq.SQLDialect;

/** Records on H2. */
class H2JooqRecordTest extends JooqRecordContract {

    H2JooqRecordTest() {
        super(h2(), SQLDialect.H2, "\"fencing_token\"");
    }
}
