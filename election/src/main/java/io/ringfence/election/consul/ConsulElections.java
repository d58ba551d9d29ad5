package io.ringfence.election.consul;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.internal.ElectionNames;
import io.ringfence.election.internal.Listeners;
import io.ringfence.election.internal.Loops;
import io.ringfence.election.internal.NamedThreads;
import io.ringfence.election.internal.Waiting;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Elections on HashiCorp Consul: one session for all of them, and one locked key for each.
 *
 * <p>A process holds at most four connections to Consul and starts at most ten threads of its own, four more for listeners if
 * there are any, and one for each {@linkplain Election#lead loop}; all are daemon threads. Until the
 * first call that contends, nothing is sent. A leader that dies is replaced when Consul expires its session, which takes up
 * to twice the TTL, plus the lock delay; a leader that releases, at once. See
 * <a href="https://developer.hashicorp.com/consul/docs/automate/session">Consul: sessions</a>.
 *
 * <p>Thread-safe.
 */
public final class ConsulElections implements Elections {
    private final Settings settings;
    private final ElectionMachine machine;
    private final ElectionDriver driver;
    private final Loops loops;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean closed;

    private ConsulElections(
            Settings settings, ConsulGateway gateway, NamedThreads threads, List<ElectionListener> listeners) {
        this.settings = settings;
        this.driver = new ElectionDriver(gateway, threads, settings.controlConnections());
        this.machine = new ElectionMachine(
                settings, TimeSource.SYSTEM, driver, new SplittableRandom(), new Listeners(listeners, driver::listen));
        this.loops = new Loops(threads, driver::listen, settings.closeLimit());
    }

    /**
     * Starts a configuration.
     *
     * <p>With several addresses one agent is used until it does not answer, refuses the connection or answers with an error
     * of its own (5xx, 429); then the next one is asked at once, and used from there on. Without more failures nothing
     * goes back to a former one. All addresses together share the time that one has, see {@link Builder#requestTimeout}. A process that
     * waits for its turn at an agent that falls silent, with its connections open, hears of a change up to 19 seconds late.
     *
     * @param address the HTTP address of a Consul agent, preferably the local one, as {@code http://127.0.0.1:8500}; or
     *     its HTTPS address, as {@code https://127.0.0.1:8501}, see {@link Builder#sslContext}
     * @param more other agents of the same datacenter, in the order to try them
     * @return a builder with these addresses and defaults for all else
     * @throws IllegalArgumentException if one is not of the form {@code http://host:port} or {@code https://host:port}, if
     *     one is there twice, or if some are http and others https: a failure must not end in plain text
     */
    public static Builder builder(String address, String... more) {
        return new Builder(address, more);
    }

    @Override
    public Election election(String name) {
        ElectionNames.require(name, "An election's name");
        machine.requireOpen();
        return new ConsulElection(machine, loops, name);
    }

    @Override
    public void close() {
        if (!loops.isCalledByWork()) {
            closing.lock();
        } else if (!closing.tryLock()) {
            return; // whoever closes waits for this very work
        }
        try {
            if (!closed) {
                closed = true;
                loops.stop();
                CompletableFuture<Void> unlocked = machine.shutDown();
                Waiting.stubbornly(unlocked, settings.closeLimit());
                Waiting.stubbornly(machine.destroySessions(), settings.requestLimit());
                driver.stop();
            }
        } finally {
            closing.unlock();
        }
    }

    /** Returns the addresses and the key prefix; nothing secret. */
    @Override
    public String toString() {
        return "ConsulElections[" + settings.address() + ", " + settings.keyPrefix() + "]";
    }

    /** Configures {@link ConsulElections}. Not thread-safe; what it builds does not change with it later. */
    public static final class Builder {
        /** How long a session lives at least without a renewal, unless {@linkplain #sessionTtl set}. */
        public static final Duration DEFAULT_SESSION_TTL = Duration.ofSeconds(10);

        /** How long Consul keeps a key locked after its session ended, unless {@linkplain #lockDelay set}. */
        public static final Duration DEFAULT_LOCK_DELAY = Duration.ofSeconds(15);

        /** What all keys begin with, unless {@linkplain #keyPrefix set}. */
        public static final String DEFAULT_KEY_PREFIX = "ringfence/";

        /** The name of the service of {@link #failureDetection}, unless given there. */
        public static final String DEFAULT_SERVICE = "ringfence";

        private static final Pattern SERVICE = Pattern.compile("[A-Za-z0-9-]{1,63}");
        private static final Pattern DATACENTER = Pattern.compile("[a-z0-9_-]{1,64}");
        private static final Duration LONGEST_TTL = Duration.ofHours(24);
        private static final Duration LONGEST_LOCK_DELAY = Duration.ofSeconds(60);
        private static final Duration LONGEST_DEFAULT_REQUEST = Duration.ofSeconds(5);
        private static final Duration WATCH_WAIT = Duration.ofSeconds(10);

        private final AgentAddresses addresses;
        private Duration sessionTtl = DEFAULT_SESSION_TTL;
        private Duration lockDelay = DEFAULT_LOCK_DELAY;
        private @Nullable Duration margin;
        private @Nullable Duration requestTimeout;
        private boolean serfHealth;
        private @Nullable FailureDetection failureDetection;
        private @Nullable String datacenter;
        private String keyPrefix = DEFAULT_KEY_PREFIX;
        private @Nullable SSLContext sslContext;
        private Supplier<? extends @Nullable String> aclToken = () -> null;
        private String holder = defaultHolder();
        private final List<ElectionListener> listeners = new ArrayList<>();
        private int epoch;
        private ThreadFactory threadFactory = Executors.defaultThreadFactory();

        private Builder(String address, String... more) {
            this.addresses = AgentAddresses.parse(address, more);
        }

        /**
         * Sets the TTL of the session: 10 seconds by default, at most 24 hours. Consul refuses less than 10 seconds unless
         * its servers are configured with a lower {@code session_ttl_min}; that is found out at the first use. The session
         * is renewed every third of it, and Consul expires it up to twice the TTL after the last renewal.
         *
         * @param ttl the least time that a session lives without a renewal
         * @return this builder
         * @throws IllegalArgumentException if it is not positive or too long
         */
        public Builder sessionTtl(Duration ttl) {
            this.sessionTtl = inRange("sessionTtl", ttl, Duration.ofMillis(1), LONGEST_TTL);
            return this;
        }

        /**
         * Sets how much earlier than the TTL a lease ends by our own clock, to allow for clocks that run at different
         * speeds: a fifth of the TTL by default. A lease counts as lost {@code ttl - margin} after the last successful
         * renewal was sent.
         *
         * @param margin a part of the TTL
         * @return this builder
         * @throws IllegalArgumentException if it is negative or too long
         */
        public Builder margin(Duration margin) {
            this.margin = inRange("margin", margin, Duration.ZERO, LONGEST_TTL);
            return this;
        }

        /**
         * Sets how long Consul refuses a key to everybody after the session that held it ended otherwise than by a release:
         * 15 seconds by default, 0 to 60 seconds. A value below {@code ttl - margin} allows that a new leader is elected
         * while a former one, whose session was destroyed by hand, has not noticed yet; then only a fence protects.
         *
         * @param delay the time that a key stays locked
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder lockDelay(Duration delay) {
            this.lockDelay = inRange("lockDelay", delay, Duration.ZERO, LONGEST_LOCK_DELAY);
            return this;
        }

        /**
         * Sets how long one request may take at one address. By default as long as lets two renewals fit into what is left
         * of a term when the first one is due, each tried at all addresses, at most 5 seconds.
         *
         * @param timeout the most that one request may take at one address
         * @return this builder
         * @throws IllegalArgumentException if it is less than 10 milliseconds
         */
        public Builder requestTimeout(Duration timeout) {
            this.requestTimeout = inRange("requestTimeout", timeout, Duration.ofMillis(10), LONGEST_TTL);
            return this;
        }

        /**
         * Lets Consul notice sooner that this process died, under the service name {@value #DEFAULT_SERVICE}; see
         * {@link #failureDetection(Duration, String)}.
         *
         * @param period how long Consul waits for a heartbeat before it ends the session, at least 300 milliseconds
         * @return this builder
         * @throws IllegalArgumentException if it is too short
         */
        public Builder failureDetection(Duration period) {
            return failureDetection(period, DEFAULT_SERVICE);
        }

        /**
         * Lets Consul notice sooner that this process died: off by default. Registers a service with a TTL check at one agent,
         * binds the session to the check, and sends a heartbeat every fifth of the period. When none came for the period, the
         * session ends, and after the {@linkplain #lockDelay lock delay} another process leads; so a fail-over within about
         * a second needs a lock delay of zero too, and then only a fence protects. A lease then ends by our own clock a fifth
         * of the period before Consul would end the session, so a pause of this JVM for four fifths of it costs every lease.
         *
         * <p>It sees that a <i>process</i> is dead. The death of the agent, or of the whole host, still takes up to twice the
         * TTL. If the agent fails, or the address has to change, every lease ends, and the next one is at another agent. The
         * service and its check are removed by {@link Elections#close}, and those of a process that died by the agent, about
         * a minute later. The ACL token needs {@code service "<name>" write} too. A token that is rotated should be served
         * for some periods before the former one is revoked, for the agent goes on with the one that registered the check.
         * Works in the agent's own datacenter only.
         *
         * @param period how long Consul waits for a heartbeat before it ends the session: at least 300 milliseconds, and
         *     four fifths of it less than {@code ttl - margin}
         * @param service the name of the service, 1 to 63 letters, digits or {@code -}
         * @return this builder
         * @throws IllegalArgumentException if the period is too short, or the name has another shape
         */
        public Builder failureDetection(Duration period, String service) {
            Duration checked = inRange("failureDetection", period, FailureDetection.SHORTEST, LONGEST_TTL);
            if (!SERVICE.matcher(Objects.requireNonNull(service, "service")).matches()) {
                throw new IllegalArgumentException(
                        "The service of failureDetection is 1 to 63 of [A-Za-z0-9-]: not '" + service + "'");
            }
            this.failureDetection = new FailureDetection(checked, service);
            return this;
        }

        /**
         * Binds the session to the gossip health of the agent's node too: off by default. A host that dies is then noticed
         * by the other Consul nodes, within some seconds; but when they only believe so for a moment, healthy leaders lose
         * their leases.
         *
         * @return this builder
         */
        public Builder serfHealth() {
            this.serfHealth = true;
            return this;
        }

        /**
         * Sets the datacenter whose Consul servers hold the elections: the agent's own by default. Every request then asks
         * for it, and the agent passes it on. Each datacenter counts its indexes for itself, so tokens of two have no
         * order: all processes, and all that one resource ever sees, take the same. An unknown one is told at the first
         * use, as an {@link io.ringfence.election.ElectionException} that names it. In another datacenter than the agent's,
         * the session belongs to one of its Consul servers, and ends if that server leaves for good; and the
         * {@linkplain #aclToken ACL token} needs its rights there, and {@code service "consul" read} and
         * {@code node_prefix "" read} too, to find that server. A token that is local to the agent's datacenter has no
         * rights there. {@code session} rules for single nodes have to allow the agent's node and the servers' there.
         *
         * @param datacenter its name, 1 to 64 of {@code [a-z0-9_-]}
         * @return this builder
         * @throws IllegalArgumentException if it has another shape
         */
        public Builder datacenter(String datacenter) {
            if (!DATACENTER
                    .matcher(Objects.requireNonNull(datacenter, "datacenter"))
                    .matches()) {
                throw new IllegalArgumentException("A datacenter is 1 to 64 of [a-z0-9_-]: not '" + datacenter + "'");
            }
            this.datacenter = datacenter;
            return this;
        }

        /**
         * Sets what all keys begin with: {@code ringfence/} by default. Processes contend only if they use the same prefix.
         *
         * @param prefix like an election's name, with one {@code /} at the end
         * @return this builder
         * @throws IllegalArgumentException if it has another shape
         */
        public Builder keyPrefix(String prefix) {
            if (!Objects.requireNonNull(prefix, "prefix").endsWith("/")) {
                throw new IllegalArgumentException("A key prefix ends with '/': not '" + prefix + "'");
            }
            ElectionNames.require(prefix.substring(0, prefix.length() - 1), "A key prefix, without its final '/',");
            this.keyPrefix = prefix;
            return this;
        }

        /**
         * Sets where the ACL token comes from: nowhere by default. It is asked before each request, so a rotated token is
         * used at once; it must not block, may be called by several threads, and may answer null or "" for no token. The
         * token needs {@code key_prefix "<prefix>" write} and {@code session_prefix "" write}, and for
         * {@linkplain #failureDetection failure detection} {@code service "<name>" write}; more if the elections are in
         * another {@linkplain #datacenter datacenter}. It is sent in a header only and never logged.
         *
         * @param token asked before each request
         * @return this builder
         */
        public Builder aclToken(Supplier<? extends @Nullable String> token) {
            this.aclToken = Objects.requireNonNull(token, "token");
            return this;
        }

        /**
         * Sets what {@code https} addresses are trusted by, and which client certificate they are shown: by default the
         * JVM's {@linkplain SSLContext#getDefault() default context}, which knows the system properties
         * {@code javax.net.ssl.trustStore} and {@code javax.net.ssl.keyStore}. The host of an address must be a name, or an
         * IP address, of the agent's certificate. A certificate that is not trusted is told at the first use.
         *
         * @param context trusts the CA of the agents and has, if they want one, a client certificate with its key
         * @return this builder
         */
        public Builder sslContext(SSLContext context) {
            this.sslContext = Objects.requireNonNull(context, "context");
            return this;
        }

        /**
         * Sets the identity that {@link Election#leader()} shows: by default the host name, the process id and a random
         * part. At most 200 characters.
         *
         * @param holder a name for people to read
         * @return this builder
         * @throws IllegalArgumentException if it is blank or too long
         */
        public Builder holder(String holder) {
            if (Objects.requireNonNull(holder, "holder").isBlank() || holder.length() > 200) {
                throw new IllegalArgumentException("A holder has 1 to 200 characters: not '" + holder + "'");
            }
            this.holder = holder;
            return this;
        }

        /**
         * Adds a listener; there may be several.
         *
         * @param listener is told of every lease of these elections
         * @return this builder
         */
        public Builder listener(ElectionListener listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
            return this;
        }

        /**
         * Sets the epoch of the tokens: 0 by default, up to 65535. A token is {@code epoch * 2^47 + ModifyIndex}, so all
         * tokens of a higher epoch are greater. Raise it, for all processes, after Consul was rebuilt or restored and a
         * {@link io.ringfence.election.TokenRegressionException} told that its indexes start low again; never lower it.
         * A process does not contend for an election whose last leader had a higher epoch: its calls end with an
         * {@link io.ringfence.election.ElectionException} that says so.
         *
         * @param epoch the same for all processes
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder epoch(int epoch) {
            if (epoch < 0 || epoch > FencingTokens.HIGHEST_EPOCH) {
                throw new IllegalArgumentException(
                        "epoch must be between 0 and " + FencingTokens.HIGHEST_EPOCH + ", but is " + epoch);
            }
            this.epoch = epoch;
            return this;
        }

        /**
         * Sets what makes our threads: by default {@link Executors#defaultThreadFactory()}. They are renamed after their job
         * and made daemon threads.
         *
         * @param factory makes a thread for each of our jobs
         * @return this builder
         */
        public Builder threadFactory(ThreadFactory factory) {
            this.threadFactory = Objects.requireNonNull(factory, "factory");
            return this;
        }

        /**
         * Builds the elections. Starts a thread, but sends nothing yet.
         *
         * @return the elections
         * @throws IllegalArgumentException if two values do not fit together; the message names both
         * @throws IllegalStateException if the JVM's default TLS context is needed and cannot be made
         */
        public ConsulElections build() {
            Settings settings = settings();
            ConsulElections elections = new ConsulElections(
                    settings,
                    new HttpConsulGateway(addresses.uris(), settings, aclToken, tls()),
                    new NamedThreads(threadFactory),
                    listeners);
            if (lockDelay.compareTo(settings.term()) < 0) {
                elections.machine.events.unsafeLockDelay(settings);
            }
            elections.driver.drive(elections.machine);
            return elections;
        }

        private @Nullable SSLContext tls() {
            if (!addresses.areTls()) {
                if (sslContext != null) {
                    throw new IllegalArgumentException(
                            "sslContext(..) is set, but the address " + addresses.first() + " is not https");
                }
                return null;
            }
            try {
                return sslContext == null ? SSLContext.getDefault() : sslContext;
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("The JVM has no default TLS context: set sslContext(..)", e);
            }
        }

        private Settings settings() {
            Duration safety = margin == null ? sessionTtl.dividedBy(5) : margin;
            if (safety.compareTo(sessionTtl) >= 0) {
                throw new IllegalArgumentException("The margin must be less than the sessionTtl, but is " + safety
                        + " with a sessionTtl of " + sessionTtl);
            }
            Duration forTwo = sessionTtl.minus(safety).minus(sessionTtl.dividedBy(3));
            int requests = 2 * addresses.count();
            Duration request = requestTimeout;
            if (request == null) {
                request = forTwo.dividedBy(requests);
                request = request.compareTo(LONGEST_DEFAULT_REQUEST) > 0 ? LONGEST_DEFAULT_REQUEST : request;
            }
            if (request.multipliedBy(requests).compareTo(forTwo) > 0 || request.toMillis() < 1) {
                throw new IllegalArgumentException("Two renewals of requestTimeout " + request
                        + (addresses.count() == 1 ? "" : " at each of " + addresses.count() + " addresses")
                        + " do not fit before the deadline: after a third of sessionTtl " + sessionTtl
                        + " and with margin "
                        + safety + ", " + forTwo + " are left");
            }
            FailureDetection detection = failureDetection;
            if (detection != null && detection.term().compareTo(sessionTtl.minus(safety)) >= 0) {
                throw new IllegalArgumentException("failureDetection " + detection.period() + " leaves a lease "
                        + detection.term() + ", which is no less than the session's ttl - margin = "
                        + sessionTtl.minus(safety) + ": make it shorter, or leave it out");
            }
            return new Settings(
                    addresses.texts(),
                    datacenter,
                    keyPrefix,
                    holder,
                    epoch,
                    sessionTtl,
                    safety,
                    lockDelay,
                    request,
                    WATCH_WAIT,
                    serfHealth,
                    detection);
        }

        private static Duration inRange(String option, Duration value, Duration least, Duration most) {
            Objects.requireNonNull(value, option);
            if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
                throw new IllegalArgumentException(
                        option + " must be between " + least + " and " + most + ", but is " + value);
            }
            return value;
        }

        private static String defaultHolder() {
            String host = System.getenv("HOSTNAME");
            return (host == null || host.isBlank() ? "jvm" : host) + "-"
                    + ProcessHandle.current().pid() + "-"
                    + Integer.toHexString(ThreadLocalRandom.current().nextInt(0x1000, 0x10000));
        }
    }
}
