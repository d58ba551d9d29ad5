package io.ringfence.servers;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A port of the loopback interface that either accepts connections or refuses them. Thread-safe. */
final class ProxyListener {

    private static final int BACKLOG = 200;

    private final Consumer<Socket> acceptor;
    private final ReentrantLock lock = new ReentrantLock();
    // under the lock: what keeps the port, a listening ServerSocket or a Socket that is bound only
    private @Nullable Closeable holder;
    // under the lock; a thread that never started until there is one
    private Thread accepting = new Thread();
    private boolean closed;
    private volatile int port;

    ProxyListener(Consumer<Socket> acceptor) {
        this.acceptor = acceptor;
    }

    int port() {
        return port;
    }

    void open() {
        lock.lock();
        try {
            if (!closed && !(holder instanceof ServerSocket)) {
                letGo();
                ServerSocket socket = new ServerSocket();
                socket.setReuseAddress(true);
                socket.bind(address(), BACKLOG);
                port = socket.getLocalPort();
                holder = socket;
                accepting = new Thread(() -> acceptFrom(socket), "proxy-accept-" + port);
                accepting.setDaemon(true);
                accepting.start();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    void refuse() {
        lock.lock();
        try {
            if (!closed && holder instanceof ServerSocket) {
                letGo();
                // a port that is bound but not listened on refuses, and nobody else can take it
                Socket bound = new Socket();
                bound.setReuseAddress(true);
                bound.bind(address());
                holder = bound;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            letGo();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    private void acceptFrom(ServerSocket socket) {
        try {
            while (true) {
                acceptor.accept(socket.accept());
            }
        } catch (IOException e) {
            // closed by letGo
        }
    }

    private void letGo() throws IOException {
        if (holder != null) {
            holder.close();
            holder = null;
        }
        try {
            // the port is free only when nobody waits in accept any more
            accepting.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while closing port " + port, e);
        }
    }

    private InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }
}
