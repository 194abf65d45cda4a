import CLinux
import Glibc
import TestSupport
import Testing

/// The sandbox's filter as a program of the kernel's packet filter (seccomp(2), `linux/filter.h`). It is run here on calls by number, so that each
/// answer is the filter's own: the kernel refuses many of these calls for other reasons too.
#if arch(x86_64) || arch(arm64)
    @Suite struct SandboxFilterTests {
        #if arch(arm64)
            private static let architecture: UInt32 = 0xC000_00B7
            /// From include/uapi/asm-generic/unistd.h. It has no call that was superseded before Linux supported this processor.
            private static let forbidden: [UInt32: String] = [
                18: "lookup_dcookie", 39: "umount2", 40: "mount", 41: "pivot_root", 42: "nfsservctl", 51: "chroot",
                58: "vhangup",
                60: "quotactl", 89: "acct", 97: "unshare", 104: "kexec_load", 105: "init_module", 106: "delete_module",
                112: "clock_settime", 116: "syslog", 142: "reboot", 161: "sethostname",
                162: "setdomainname",
                170: "settimeofday", 217: "add_key", 218: "request_key", 219: "keyctl", 224: "swapon", 225: "swapoff",
                238: "migrate_pages", 239: "move_pages", 241: "perf_event_open", 262: "fanotify_init",
                265: "open_by_handle_at", 268: "setns", 272: "kcmp",
                273: "finit_module", 280: "bpf", 282: "userfaultfd", 294: "kexec_file_load", 428: "open_tree",
                429: "move_mount", 430: "fsopen", 431: "fsconfig", 432: "fsmount", 433: "fspick", 438: "pidfd_getfd",
                440: "process_madvise", 442: "mount_setattr", 443: "quotactl_fd", 467: "open_tree_attr",
            ]
            private static let clone: UInt32 = 220
            private static let ioctl: UInt32 = 29
            private static let fcntl: UInt32 = 25
            private static let shmctl: UInt32 = 195
            private static let sockets: [UInt32] = [198, 199]
            /// Calls of every build: read, write, openat, execve, wait4, mmap, futex, renameat2, kill, connect, prctl.
            private static let allowed: [UInt32] = [63, 64, 56, 221, 260, 222, 98, 276, 129, 203, 167]
            /// ptrace, process_vm_readv, process_vm_writev: debuggers and the leak checker of sanitizers.
            private static let tracing: [UInt32] = [117, 270, 271]
        #else
            private static let architecture: UInt32 = 0xC000_003E
            /// From arch/x86/entry/syscalls/syscall_64.tbl.
            private static let forbidden: [UInt32: String] = [
                103: "syslog", 134: "uselib", 136: "ustat", 139: "sysfs", 153: "vhangup",
                154: "modify_ldt",
                155: "pivot_root", 156: "_sysctl", 161: "chroot", 163: "acct", 164: "settimeofday", 165: "mount",
                166: "umount2",
                167: "swapon", 168: "swapoff", 169: "reboot", 170: "sethostname", 171: "setdomainname", 172: "iopl",
                173: "ioperm",
                174: "create_module", 175: "init_module", 176: "delete_module", 177: "get_kernel_syms",
                178: "query_module",
                179: "quotactl", 180: "nfsservctl", 212: "lookup_dcookie", 227: "clock_settime", 246: "kexec_load",
                248: "add_key", 249: "request_key", 250: "keyctl", 256: "migrate_pages", 272: "unshare",
                279: "move_pages",
                298: "perf_event_open", 300: "fanotify_init", 304: "open_by_handle_at", 308: "setns",
                312: "kcmp", 313: "finit_module", 320: "kexec_file_load", 321: "bpf",
                323: "userfaultfd", 428: "open_tree", 429: "move_mount", 430: "fsopen", 431: "fsconfig", 432: "fsmount",
                433: "fspick", 438: "pidfd_getfd", 440: "process_madvise", 442: "mount_setattr", 443: "quotactl_fd",
                467: "open_tree_attr",
            ]
            private static let clone: UInt32 = 56
            private static let ioctl: UInt32 = 16
            private static let fcntl: UInt32 = 72
            private static let shmctl: UInt32 = 31
            private static let sockets: [UInt32] = [41, 53]
            /// Calls of every build: read, write, openat, execve, fork, vfork, wait4, mmap, futex, rename, kill, connect, prctl.
            private static let allowed: [UInt32] = [0, 1, 257, 59, 57, 58, 61, 9, 202, 82, 62, 42, 157]
            /// ptrace, process_vm_readv, process_vm_writev: debuggers and the leak checker of sanitizers.
            private static let tracing: [UInt32] = [101, 310, 311]
        #endif
        private static let absent: [UInt32: String] = [
            425: "io_uring_setup", 426: "io_uring_enter", 427: "io_uring_register", 435: "clone3",
        ]

        /// Returns the filter's answer to a call: 0 if it is allowed, or else the error's number.
        private func answer(_ call: UInt32, _ arguments: UInt64..., architecture: UInt32 = architecture) throws -> Int32
        {
            var bytes = [UInt8](repeating: 0, count: Int(CLINUX_SECCOMP_LIMIT))
            let size = bytes.withUnsafeMutableBytes { clinux_seccomp_filter($0.baseAddress, $0.count) }
            try #require(size <= bytes.count)
            // struct seccomp_data: the call, the architecture, the instruction's address, six arguments.
            var data = [call, architecture, 0, 0]
            for index in 0..<6 {
                let argument = index < arguments.count ? arguments[index] : 0
                data += [UInt32(truncatingIfNeeded: argument), UInt32(truncatingIfNeeded: argument >> 32)]
            }
            var (accumulator, place): (UInt32, Int) = (0, 0)
            while place * 8 < size {
                // struct sock_filter: a code of 16 bits, two jumps of 8, a value of 32.
                let code = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place * 8, as: UInt16.self) }
                let (yes, no) = (Int(bytes[place * 8 + 2]), Int(bytes[place * 8 + 3]))
                let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place * 8 + 4, as: UInt32.self) }
                place += 1
                switch code {
                case 0x20: accumulator = data[Int(value) / 4]
                case 0x15: place += accumulator == value ? yes : no
                case 0x25: place += accumulator > value ? yes : no
                case 0x45: place += accumulator & value != 0 ? yes : no
                case 0x06:
                    // SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
                    if value == 0x7FFF_0000 { return 0 }
                    try #require(value & 0xFFFF_0000 == 0x0005_0000)
                    return Int32(value & 0xFFFF)
                default: Issue.record("an instruction of the code \(code)")
                }
            }
            Issue.record("the filter has no end")
            return 0
        }

        @Test(
            .proves(
                .jobs,
                "The system call filter; 120 and more ways out, each denied to an ordinary user, to a workspace's owner and to root"
            ))
        func testThatWhatIsForbiddenIsNotPermitted() throws {
            for (call, name) in Self.forbidden { #expect(try answer(call) == EPERM, "\(name)") }
            for (call, name) in Self.absent { #expect(try answer(call) == ENOSYS, "\(name)") }
        }

        @Test func testThatABuildCanDoItsWork() throws {
            for call in Self.allowed { #expect(try answer(call) == 0, "\(call)") }
            #expect(try answer(Self.clone, 0x0001_0F11) == 0, "a thread")
        }

        @Test(
            .proves(
                .jobs,
                "A job can trace its own processes and list network interfaces: the leak checker, debuggers and `getifaddrs` work"
            ))
        func testThatAJobTracesItsOwnProcesses() throws {
            for call in Self.tracing { #expect(try answer(call) == 0, "\(call)") }
        }

        @Test func testThatNoNamespaceIsMade() throws {
            for flag: UInt64 in [
                0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
            ] { #expect(try answer(Self.clone, flag | 17) == EPERM, "\(String(flag, radix: 16))") }
        }

        @Test func testThatNothingIsTypedIntoATerminal() throws {
            for request: UInt64 in [0x5412, 0x541C, 0xFFFF_FFFF_0000_5412] {
                #expect(try answer(Self.ioctl, 0, request) == EPERM, "\(String(request, radix: 16))")
            }
            #expect(try answer(Self.ioctl, 0, 0x5423) == EPERM, "TIOCSETD")
            #expect(try answer(Self.ioctl, 0, 0x5401) == 0, "TCGETS")
        }

        /// Commands by include/uapi/linux/fcntl.h and shm.h.
        @Test(.proves(.jobs, "A job's leases delay nobody; it gets no large pipes and locks no shared memory"))
        func testThatNobodyWaitsForAJobsLeaseAndNoShareOfTheUserIsTaken() throws {
            for command: UInt64 in [1024, 1026, 0xFFFF_FFFF_0000_0400] {
                #expect(try answer(Self.fcntl, 3, command, 1) == EPERM, "\(command)")
            }
            for command: UInt64 in [1039, 1040, 2000] {
                #expect(try answer(Self.fcntl, 3, command, 1) == EINVAL, "\(command)")
            }
            // F_DUPFD, F_SETFL, F_SETLK, F_OFD_SETLKW, F_GETLEASE, F_DUPFD_CLOEXEC, F_GETPIPE_SZ, F_ADD_SEALS, F_SET_FILE_RW_HINT
            for command: UInt64 in [0, 4, 6, 38, 1025, 1030, 1032, 1033, 1038] {
                #expect(try answer(Self.fcntl, 3, command, 1 << 20) == 0, "\(command)")
            }
            #expect(try answer(Self.fcntl, 3, 1031, 65_536) == 0, "a pipe's usual size")
            #expect(try answer(Self.fcntl, 3, 1031, 65_537) == EPERM)
            #expect(try answer(Self.shmctl, 3, 11) == EPERM, "SHM_LOCK")
            for command: UInt64 in [0, 1, 2, 12] { #expect(try answer(Self.shmctl, 3, command) == 0, "\(command)") }
        }

        @Test(
            .proves(
                .jobs,
                "The system call filter; 120 and more ways out, each denied to an ordinary user, to a workspace's owner and to root"
            ))
        func testThatOnlyUnixAndInternetHaveSocketsAndPairs() throws {
            for call in Self.sockets {
                for family: UInt64 in [1, 2, 10] { #expect(try answer(call, family) == 0, "\(family)") }
                for family: UInt64 in [0, 3, 17, 30, 38, 40, 44, 0x1_0000_0011] {
                    #expect(try answer(call, family) == EAFNOSUPPORT, "\(family)")
                }
            }
        }

        /// NETLINK_ROUTE, by which programs list the interfaces, is allowed. Audit, device events, packet filters and sockets of other processes
        /// are not.
        @Test(
            .proves(
                .jobs,
                "A job can trace its own processes and list network interfaces: the leak checker, debuggers and `getifaddrs` work"
            ))
        func testThatNetlinkHasItsRoutesAlone() throws {
            for call in Self.sockets {
                for type: UInt64 in [2, 3, 0x80003] { #expect(try answer(call, 16, type, 0) == 0, "\(type)") }
                for number: UInt64 in [1, 2, 4, 6, 9, 12, 15, 16, 0x1_0000_0004] {
                    #expect(try answer(call, 16, 3, number) == EPROTONOSUPPORT, "\(number)")
                    #expect(try answer(call, 0x1_0000_0010, 3, number) == EPROTONOSUPPORT, "high bits: \(number)")
                }
            }
        }

        /// Another protocol can be a module, which the kernel would load for a job.
        @Test func testThatInternetSocketsHaveTheUsualProtocolsAlone() throws {
            for call in Self.sockets {
                for family: UInt64 in [2, 10] {
                    for number: UInt64 in [0, 1, 6, 17, 58, 262] {
                        #expect(try answer(call, family, 1, number) == 0, "\(number)")
                    }
                    for number: UInt64 in [33, 47, 115, 132, 136, 255, 0x1_0000_0084] {
                        #expect(try answer(call, family, 1, number) == EPROTONOSUPPORT, "\(number)")
                    }
                }
                for type: UInt64 in [1, 2, 3, 0x80802] { #expect(try answer(call, 2, type) == 0, "\(type)") }
                for type: UInt64 in [4, 5, 6, 10, 0x80806] {
                    #expect(try answer(call, 2, type) == ESOCKTNOSUPPORT, "\(type)")
                }
                #expect(try answer(call, 1, 5, 1) == 0, "a unix socket's are its own")
            }
        }

        @Test func testThatOtherTablesAndNewerCallsAreNotThere() throws {
            for other: UInt32 in [0x4000_0003, 0x4000_0028] {
                #expect(try answer(0, architecture: other) == ENOSYS, "32 bits, of Intel and Arm")
            }
            #expect(try answer(0x4000_0000) == ENOSYS, "x32")
            #expect(try answer(469) == 0)
            #expect(try answer(470) == ENOSYS)
        }
    }
#endif
