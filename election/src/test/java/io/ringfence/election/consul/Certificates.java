package io.ringfence.election.consul;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** A certificate authority for a test, and what it issues, made by the JDK's keytool. */
final class Certificates {
    private static final String PASSWORD = "changeit";
    private static final String CA = "ca";

    private final Path directory;
    private final Path store;

    Certificates(Path directory) throws Exception {
        this.directory = Files.createDirectories(directory);
        this.store = directory.resolve("store.p12");
        generate(CA, "-ext", "bc:c");
    }

    /** Issues a certificate for a server or client. */
    Certificates issue(String alias, String names) throws Exception {
        generate(alias, "-signer", CA, "-ext", "eku=serverAuth,clientAuth", "-ext", "san=" + names);
        return this;
    }

    /** The CA's certificate as a PEM file. */
    Path caFile() throws Exception {
        return certificateFile(CA);
    }

    Path certificateFile(String alias) throws Exception {
        return pem(alias + ".crt", "CERTIFICATE", load().getCertificate(alias).getEncoded());
    }

    Path keyFile(String alias) throws Exception {
        Key key = load().getKey(alias, PASSWORD.toCharArray());
        return pem(alias + ".key", "PRIVATE KEY", key.getEncoded());
    }

    /** A context that trusts this CA, with a client's certificate or without. */
    SSLContext context(@Nullable String client) throws Exception {
        KeyStore all = load();
        KeyStore trusted = empty();
        trusted.setCertificateEntry(CA, all.getCertificate(CA));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        KeyManager[] keys = {};
        if (client != null) {
            KeyStore own = empty();
            Certificate[] chain = all.getCertificateChain(client);
            own.setKeyEntry(client, all.getKey(client, PASSWORD.toCharArray()), PASSWORD.toCharArray(), chain);
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(own, PASSWORD.toCharArray());
            keys = factory.getKeyManagers();
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, trust.getTrustManagers(), null);
        return context;
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        return keys;
    }

    private KeyStore load() throws GeneralSecurityException, IOException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    private Path pem(String file, String what, byte[] der) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return Files.writeString(
                directory.resolve(file), "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
    }

    private void generate(String alias, String... more) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-genkeypair", "-alias", alias, "-dname", "CN=" + alias, "-validity", "2"));
        command.addAll(List.of("-keyalg", "EC", "-groupname", "secp256r1"));
        command.addAll(List.of("-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", PASSWORD));
        command.addAll(List.of(more));
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException(output);
        }
    }
}
