import CLibGit2
import Glibc

/// Answers libgit2's callbacks during the conversation with a server, for one operation.
final class RemoteCallbacks {
    private let credentials: Credentials?
    private let userInURL: String?
    private let control: NetworkControl

    init(credentials: Credentials?, userInURL: String?, control: NetworkControl) {
        self.credentials = credentials
        self.userInURL = userInURL
        self.control = control
    }

    /// The table of functions for libgit2. It points to this object, which must outlive its use.
    var callbacks: git_remote_callbacks {
        var table = git_remote_callbacks()
        git_remote_init_callbacks(&table, UInt32(GIT_REMOTE_CALLBACKS_VERSION))
        table.payload = Unmanaged.passUnretained(self).toOpaque()
        table.credentials = { out, _, user, allowed, payload in
            guard let payload, let out else { return -1 }
            let this = Unmanaged<RemoteCallbacks>.fromOpaque(payload).takeUnretainedValue()
            return this.answer(out, user: user.map { String(cString: $0) }, allowed: allowed)
        }
        table.certificate_check = { _, isValid, _, payload in
            guard isValid == 0, let payload else { return GIT_PASSTHROUGH.rawValue }
            let this = Unmanaged<RemoteCallbacks>.fromOpaque(payload).takeUnretainedValue()
            this.control.record(.serverUntrusted)
            // The result is not 0, which would accept any certificate. libgit2's own decision applies.
            return GIT_PASSTHROUGH.rawValue
        }
        table.transfer_progress = { progress, payload in
            guard let progress, let payload else { return -1 }
            let this = Unmanaged<RemoteCallbacks>.fromOpaque(payload).takeUnretainedValue()
            return this.goOn(received: Int64(clamping: progress.pointee.received_bytes)) ? 0 : -1
        }
        // The server's progress messages are read and discarded; they may contain escape sequences (CVE-2024-52005).
        table.sideband_progress = { _, _, payload in
            guard let payload else { return -1 }
            let this = Unmanaged<RemoteCallbacks>.fromOpaque(payload).takeUnretainedValue()
            return this.control.stopped == nil ? 0 : -1
        }
        return table
    }

    private func goOn(received: Int64) -> Bool {
        control.beginPack()
        if received > control.bytes { control.stop(.tooManyBytes(control.bytes)) }
        return control.stopped == nil
    }

    /// Answers with a user name if only that is requested, and once with the secret.
    private func answer(
        _ out: UnsafeMutablePointer<UnsafeMutablePointer<git_credential>?>, user: String?, allowed: UInt32
    ) -> Int32 {
        let user = user ?? userInURL ?? credentials?.user
        if allowed & GIT_CREDENTIAL_USERNAME.rawValue != 0 {
            return git_credential_username_new(out, user ?? "git")
        }
        // libgit2 asks again after a refusal, without end (observed with an RSA key).
        guard control.countCredentialTry() == 1 else {
            control.record(.credentialsRefused)
            return refuse("the server refused what it was given")
        }
        if allowed & GIT_CREDENTIAL_SSH_KEY.rawValue != 0 {
            switch credentials?.key ?? Self.usualKey {
            case .files(let privateKey, let publicKey)?:
                return git_credential_ssh_key_new(
                    out, user ?? "git", publicKey ?? privateKey + ".pub", privateKey, credentials?.passphrase)
            case .text(let text)?:
                return git_credential_ssh_key_memory_new(out, user ?? "git", nil, text, credentials?.passphrase)
            case nil: break
            }
        }
        if allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT.rawValue != 0, let password = credentials?.password {
            return git_credential_userpass_plaintext_new(out, user ?? "git", password)
        }
        control.record(.credentialsMissing)
        return refuse("the server requires credentials")
    }

    private func refuse(_ message: String) -> Int32 {
        git_error_set_str(Int32(GIT_ERROR_CALLBACK.rawValue), message)
        return GIT_EUSER.rawValue
    }

    /// The account's own key, as ssh would use it; `nil` if there is none. RSA is left out: see `Credentials.Key`.
    private static var usualKey: Credentials.Key? {
        guard let home = getenv("HOME").map({ String(cString: $0) }) else { return nil }
        return ["id_ed25519", "id_ecdsa"].map { "\(home)/.ssh/\($0)" }
            .first { access($0, R_OK) == 0 && access($0 + ".pub", R_OK) == 0 }
            .map { .files(privateKey: $0, publicKey: nil) }
    }
}
