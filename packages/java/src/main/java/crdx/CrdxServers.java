package crdx;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A process of {@code kubectl-crdx serve --sessions}, which ends with this process at the latest. */
public final class CrdxServers implements AutoCloseable {
    private final Process process;
    private final BufferedWriter requests;
    private final BufferedReader answers;

    /** Starts the process; {@code flags} are those of {@code kubectl crdx serve}. */
    public CrdxServers(String... flags) throws IOException {
        List<String> command = new ArrayList<>(List.of(program().toString(), "serve", "--sessions"));
        command.addAll(List.of(flags));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        requests = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts a server that loads CRDs and objects from files and directories, besides those of {@code --load}. */
    public CrdxServer create(String... paths) throws IOException {
        JsonObject answer = ask("new " + new Gson().toJson(paths));
        return new CrdxServer(this, answer.get("url").getAsString(), answer.get("kubeconfig").getAsString());
    }

    synchronized JsonObject ask(String request) throws IOException {
        requests.write(request + "\n");
        requests.flush();
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("kubectl-crdx has ended: its messages are on standard error");
        }
        JsonObject answer = JsonParser.parseString(line).getAsJsonObject();
        if (answer.has("error")) {
            throw new IOException(answer.get("error").getAsString());
        }
        return answer;
    }

    /** Ends the process and all its servers. */
    @Override
    public void close() throws IOException {
        requests.close();
        try {
            process.waitFor();
        } catch (InterruptedException interrupted) {
            process.destroy();
            Thread.currentThread().interrupt();
        }
    }

    /** The program of this platform: a copy of the one on the class path, for the life of this process. */
    private static Path program() throws IOException {
        boolean windows = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("windows");
        String name = windows ? "kubectl-crdx.exe" : "kubectl-crdx";
        String resource = "/crdx/" + platform(windows) + "/" + name;
        try (InputStream program = CrdxServers.class.getResourceAsStream(resource)) {
            if (program == null) {
                throw new IOException("this jar has no " + resource + ": use the one for this platform");
            }
            Path directory = Files.createTempDirectory("crdx-");
            Path file = directory.resolve(name);
            Files.copy(program, file);
            if (!file.toFile().setExecutable(true)) {
                throw new IOException(file + " cannot be made executable: set java.io.tmpdir to a folder where programs may run");
            }
            directory.toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            return file;
        }
    }

    private static String platform(boolean windows) {
        boolean mac = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac");
        String system = windows ? "windows" : mac ? "darwin" : "linux";
        return system + (System.getProperty("os.arch").equals("aarch64") ? "-arm64" : "-amd64");
    }
}
