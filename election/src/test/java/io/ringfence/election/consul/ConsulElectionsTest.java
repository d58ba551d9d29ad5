package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ringfence.election.Election;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsulElectionsTest {
    private static final String ADDRESS = "http://127.0.0.1:8500";

    @ParameterizedTest
    @ValueSource(strings = {"a", "a/b", "invoice-closer", "A_1/b.c/-x", "a..b"})
    void acceptsNamesOfSegments(String name) {
        try (ConsulElections elections = ConsulElections.builder(ADDRESS).build()) {
            Election election = elections.election(name);
            assertThat(election.name()).isEqualTo(name);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", "a?b", "a#b", "a b", ".", "..", "a/../b", "a/./b", ".a", "a//b", "/a", "a/", "a%2Fb", "é",
                "a\nb", "a\n"
            })
    void refusesNamesThatConsulWouldReadDifferently(String name) {
        try (ConsulElections elections = ConsulElections.builder(ADDRESS).build()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> elections.election(name))
                    .withMessageContaining("'" + name + "'");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "/", "/a/", "a//", "../"})
    void refusesPrefixesOfAnotherShape(String prefix) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS).keyPrefix(prefix))
                .withMessageContaining("prefix");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "DC1", "dc 1", "dc1\n", "dc1&x=y", "dc.1", "dé"})
    void refusesADatacenterOfAnotherShape(String datacenter) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS).datacenter(datacenter))
                .withMessageContaining("'" + datacenter + "'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS).datacenter("d".repeat(65)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1:8500",
                "localhost",
                "http://127.0.0.1",
                "https://127.0.0.1",
                "https://127.0.0.1:8501/v1",
                "http://127.0.0.1:8500/v1",
                "http://127.0.0.1:8500?x",
                "http://127.0.0.1:99999",
                "http://127.0.0.1:0",
                "consul:8500",
                "",
                "http://a b:8500"
            })
    void refusesAnAddressOfAnotherForm(String address) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(address))
                .withMessageContaining("http://127.0.0.1:8500");
    }

    @Test
    void doesNotRepeatAPasswordInAnAddress() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder("http://user:secret@127.0.0.1:8500"))
                .withMessageContaining("aclToken")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
    }

    @Test
    void refusesAMarginThatLeavesNothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS)
                        .sessionTtl(Duration.ofSeconds(10))
                        .margin(Duration.ofSeconds(11))
                        .build())
                .withMessageContainingAll("PT11S", "PT10S");
    }

    @Test
    void refusesARequestTimeoutThatTwoRenewalsDoNotFitInto() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS)
                        .sessionTtl(Duration.ofSeconds(10))
                        .requestTimeout(Duration.ofSeconds(3))
                        .build())
                .withMessageContaining("PT3S")
                .withMessageContaining("PT10S");
    }

    @Test
    void countsAllAddresses_whenTwoRenewalsMustFit() {
        String[] more = {"http://127.0.0.2:8500", "http://127.0.0.3:8500"};
        Duration timeout = Duration.ofSeconds(1);
        ConsulElections.builder(ADDRESS, more[0])
                .requestTimeout(timeout)
                .build()
                .close();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS, more)
                        .requestTimeout(timeout)
                        .build())
                .withMessageContainingAll("PT1S", "3 addresses", "PT10S");
        ConsulElections.builder(ADDRESS, more).build().close();
    }

    @Test
    void refusesAnAddressThatIsThereTwice_orOfAnotherForm() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS, ADDRESS))
                .withMessageContaining("twice");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS, "ftp://127.0.0.1:1"))
                .withMessageContaining("ftp://127.0.0.1:1");
    }

    @Test
    void refusesAMixOfHttpAndHttps_andATlsContextForHttp() throws Exception {
        String https = "https://127.0.0.1:8501";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(https, ADDRESS))
                .withMessageContainingAll(https, ADDRESS);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulElections.builder(ADDRESS, https))
                .withMessageContainingAll(https, ADDRESS);
        SSLContext context = SSLContext.getDefault();
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        ConsulElections.builder(ADDRESS).sslContext(context).build())
                .withMessageContainingAll("sslContext", ADDRESS);
        try (ConsulElections elections =
                ConsulElections.builder("HTTPS://127.0.0.1:8501").build()) {
            assertThat(elections.toString()).contains(https);
        }
    }

    @Test
    void printsAllAddresses() {
        try (ConsulElections elections =
                ConsulElections.builder(ADDRESS, "http://127.0.0.2:8500").build()) {
            assertThat(elections.toString()).contains(ADDRESS, "http://127.0.0.2:8500");
        }
    }

    @Test
    void refusesOptionsOutOfRange() {
        ConsulElections.Builder builder = ConsulElections.builder(ADDRESS);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.sessionTtl(Duration.ZERO))
                .withMessageContaining("sessionTtl");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.sessionTtl(Duration.ofHours(25)))
                .withMessageContaining("PT25H");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.lockDelay(Duration.ofSeconds(61)))
                .withMessageContaining("PT1M1S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.lockDelay(Duration.ofSeconds(-5)))
                .withMessageContaining("PT-5S");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.margin(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.requestTimeout(Duration.ofMillis(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.epoch(-1)).withMessageContaining("-1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.epoch(65_536))
                .withMessageContaining("65536");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.holder(" "));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.holder("x".repeat(201)));
    }

    @Test
    void refusesAFailureDetectionThatIsTooShort_orDetectsNothingSooner_orHasABadName() {
        ConsulElections.Builder builder = ConsulElections.builder(ADDRESS);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.failureDetection(Duration.ofMillis(299)))
                .withMessageContainingAll("failureDetection", "PT0.299S", "PT0.3S");
        for (String service : new String[] {"", "a b", "a/b", "x".repeat(64), "é"}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder.failureDetection(Duration.ofSeconds(1), service))
                    .withMessageContaining("'" + service + "'");
        }
        builder.failureDetection(Duration.ofMillis(9_999)).build().close();
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> builder.failureDetection(Duration.ofSeconds(10)).build())
                .withMessageContainingAll("PT10S", "PT8S");
    }

    @Test
    void refusesToContend_whenClosed() {
        ConsulElections elections = ConsulElections.builder(ADDRESS).build();
        Election election = elections.election("job");
        elections.close();
        elections.close();
        assertThatIllegalStateException().isThrownBy(election::tryAcquire).withMessageContaining("closed");
        assertThatIllegalStateException().isThrownBy(election::leader);
        assertThatIllegalStateException().isThrownBy(() -> elections.election("job"));
    }

    @Test
    void printsNothingSecret() {
        try (ConsulElections elections =
                ConsulElections.builder(ADDRESS).aclToken(() -> "s3cret").build()) {
            assertThat(elections.toString()).doesNotContain("s3cret").contains("127.0.0.1:8500");
        }
    }
}
