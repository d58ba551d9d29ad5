package io.ringfence.election.consul;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/** The checked addresses of the agents, in the order to try them: all http, or all https. */
record AgentAddresses(List<URI> uris) {
    private static final Set<String> SCHEMES = Set.of("http", "https");

    static AgentAddresses parse(String address, String... more) {
        List<URI> all = new ArrayList<>();
        all.add(parse(Objects.requireNonNull(address, "address")));
        for (String other : more) {
            URI parsed = parse(Objects.requireNonNull(other, "more"));
            if (all.contains(parsed)) {
                throw new IllegalArgumentException("The address " + other + " is there twice");
            }
            if (!scheme(parsed).equals(scheme(all.get(0)))) {
                throw new IllegalArgumentException(
                        "Addresses are all https or all http, but there are " + address + " and " + other);
            }
            all.add(parsed);
        }
        return new AgentAddresses(List.copyOf(all));
    }

    private static URI parse(String address) {
        URI uri;
        try {
            uri = new URI(address);
        } catch (URISyntaxException e) {
            throw badAddress("it is no URI");
        }
        if (uri.getUserInfo() != null) {
            throw badAddress("it must not contain a user or password; an ACL token goes to aclToken(..)");
        }
        if (!SCHEMES.contains(scheme(uri))
                || uri.getHost() == null
                || uri.getPort() < 1
                || uri.getPort() > 65535
                || !(uri.getPath().isEmpty() || "/".equals(uri.getPath()))
                || uri.getQuery() != null
                || uri.getFragment() != null) {
            throw badAddress("'" + address + "' is not");
        }
        return uri;
    }

    private static IllegalArgumentException badAddress(String why) {
        return new IllegalArgumentException(
                "The address of a Consul agent looks like http://127.0.0.1:8500 or https://127.0.0.1:8501, but " + why);
    }

    private static String scheme(URI address) {
        return address.getScheme() == null ? "" : address.getScheme().toLowerCase(Locale.ROOT);
    }

    URI first() {
        return uris.get(0);
    }

    int count() {
        return uris.size();
    }

    boolean areTls() {
        return scheme(first()).equals("https");
    }

    /** The addresses as messages show them. */
    List<String> texts() {
        return uris.stream()
                .map(uri -> scheme(uri) + "://" + uri.getAuthority())
                .toList();
    }
}
