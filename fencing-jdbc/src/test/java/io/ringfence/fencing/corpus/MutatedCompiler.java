package io.ringfence.fencing.corpus;

import io.ringfence.fencing.internal.FencedStatement;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The compiler of statements as it would be if some of its source code were different. */
final class MutatedCompiler {
    private static final String PACKAGE = FencedStatement.class.getPackageName();
    private static final Path SOURCES = Path.of("src", "main", "java").resolve(PACKAGE.replace('.', '/'));

    private final Map<String, String> sources = new LinkedHashMap<>();

    /** Takes that class into the compilation, with the text replaced, which must be in it once. */
    void replace(String type, String text, String replacement) throws IOException {
        String source = sources.get(type);
        if (source == null) {
            Path module = Path.of(System.getProperty("basedir", ""));
            source = Files.readString(module.resolve(SOURCES).resolve(type + ".java"));
        }
        int at = source.indexOf(text);
        if (at < 0 || source.indexOf(text, at + 1) >= 0) {
            throw new AssertionError("Not exactly once in " + type + ": " + text);
        }
        sources.put(type, source.replace(text, replacement));
    }

    /** Compiles what was replaced into that directory, and loads it apart from the original. */
    StatementCompiler load(Path directory) throws IOException, ReflectiveOperationException {
        compile(directory);
        ClassLoader loader = new Loader(directory);
        @SuppressWarnings("unchecked")
        Function<String, Map.Entry<String, List<Integer>>> compiled =
                (Function<String, Map.Entry<String, List<Integer>>>) loader.loadClass(CompiledApart.class.getName())
                        .getDeclaredConstructor()
                        .newInstance();
        return sql -> {
            Map.Entry<String, List<Integer>> fenced = compiled.apply(sql);
            return new FencedSql(fenced.getKey(), fenced.getValue());
        };
    }

    private void compile(Path directory) throws IOException {
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "this needs a JDK");
        List<JavaFileObject> units = new ArrayList<>();
        sources.forEach((type, source) -> units.add(new Source(type, source)));
        StringWriter messages = new StringWriter();
        List<String> options = List.of(
                "-proc:none",
                "-nowarn",
                "-d",
                directory.toString(),
                "-classpath",
                System.getProperty("java.class.path"));
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            if (!compiler.getTask(messages, files, null, options, null, units).call()) {
                throw new AssertionError("The changed sources do not compile:\n" + messages);
            }
        }
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String type, String text) {
            super(URI.create("string:///" + PACKAGE.replace('.', '/') + "/" + type + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Loads the package itself, all changed classes as changed, and leaves the rest to the loader of the tests. */
    private static final class Loader extends ClassLoader {
        private static final List<String> CALLERS = List.of(CompiledApart.class.getName(), FencedSql.class.getName());

        private final Map<String, byte[]> changed = new LinkedHashMap<>();

        Loader(Path directory) throws IOException {
            super(MutatedCompiler.class.getClassLoader());
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String name = file.getFileName().toString().replace(".class", "");
                    changed.put(PACKAGE + "." + name, Files.readAllBytes(file));
                }
            }
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.startsWith(PACKAGE + ".") && !CALLERS.contains(name)) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? define(name) : loaded;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            byte[] bytes = changed.get(name);
            if (bytes == null) {
                try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (file == null) {
                        throw new ClassNotFoundException(name);
                    }
                    bytes = file.readAllBytes();
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
