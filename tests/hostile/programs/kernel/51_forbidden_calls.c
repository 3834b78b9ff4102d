// 51. Makes every system call that no honest program needs.
// All arguments are nonsense, at which the kernel itself would mostly say something else than EPERM.
// ends: exit 0
// says: held
// ends in containers: exit 0 | exit 1
// may say in containers: *: Function not implemented
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name) {#name, SYS_##name}

// Those that are younger than some C libraries; the same number on every architecture.
#define SYS_quotactl_fd_ 443
#define SYS_memfd_secret_ 447
#define SYS_process_mrelease_ 448
#define SYS_set_mempolicy_home_node_ 450
#define SYS_map_shadow_stack_ 453
#define SYS_statmount_ 457
#define SYS_listmount_ 458
#define SYS_lsm_get_self_attr_ 459
#define SYS_lsm_set_self_attr_ 460
#define SYS_lsm_list_modules_ 461
#define SYS_open_tree_attr_ 467
#define YOUNG(name) {#name, SYS_##name##_}

static const struct { const char *name; long number; } calls[] = {
    // code in the kernel
    CALL(bpf), CALL(perf_event_open), CALL(userfaultfd), CALL(init_module), CALL(finit_module),
    CALL(delete_module), CALL(kexec_load), YOUNG(lsm_get_self_attr), YOUNG(lsm_set_self_attr),
    YOUNG(lsm_list_modules), YOUNG(map_shadow_stack),
    // keys
    CALL(keyctl), CALL(add_key), CALL(request_key),
    // mounts
    CALL(mount), CALL(umount2), CALL(pivot_root), CALL(chroot), CALL(fsopen), CALL(fsconfig),
    CALL(fsmount), CALL(fspick), CALL(move_mount), CALL(open_tree), CALL(mount_setattr),
    CALL(setns), CALL(quotactl), YOUNG(quotactl_fd), YOUNG(statmount), YOUNG(listmount),
    YOUNG(open_tree_attr),
    // other processes
    CALL(ptrace), CALL(process_vm_readv), CALL(process_vm_writev), CALL(pidfd_getfd), CALL(kcmp),
    CALL(process_madvise), YOUNG(process_mrelease), CALL(migrate_pages), CALL(move_pages),
    // the machine
    CALL(reboot), CALL(sethostname), CALL(setdomainname), CALL(settimeofday), CALL(clock_settime),
    CALL(clock_adjtime), CALL(adjtimex), CALL(swapon), CALL(swapoff), CALL(acct), CALL(syslog),
    CALL(vhangup), CALL(nfsservctl), CALL(lookup_dcookie),
    // rights
    CALL(setgroups), CALL(setfsuid), CALL(setfsgid), CALL(capset), CALL(seccomp),
    // memory
    CALL(mbind), CALL(set_mempolicy), YOUNG(set_mempolicy_home_node), YOUNG(memfd_secret),
    CALL(remap_file_pages), CALL(vmsplice),
    // files and queues of everybody
    CALL(fanotify_init), CALL(fanotify_mark), CALL(name_to_handle_at), CALL(open_by_handle_at),
    CALL(mq_open), CALL(mq_unlink), CALL(mq_notify), CALL(mq_getsetattr), CALL(mq_timedsend),
    CALL(mq_timedreceive), CALL(io_setup), CALL(io_submit), CALL(io_destroy), CALL(io_getevents),
    CALL(io_cancel), CALL(io_pgetevents),
#ifdef __x86_64__
    CALL(iopl), CALL(ioperm), CALL(modify_ldt), CALL(uselib), CALL(ustat), CALL(sysfs),
    CALL(_sysctl), CALL(create_module), CALL(get_kernel_syms), CALL(query_module),
    CALL(kexec_file_load), CALL(getpmsg), CALL(putpmsg), CALL(afs_syscall), CALL(tuxcall),
    CALL(security), CALL(vserver), CALL(epoll_ctl_old), CALL(set_thread_area),
#endif
    {"one from the future", 499}, {"the last of all numbers", 0x3fffffff},
};

int main(void) {
    int got_through = 0;
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        errno = 0;
        long result = syscall(calls[i].number, -1L, -1L, -1L, -1L, -1L, -1L);
        if (result < 0 && errno == EPERM) continue;
        printf("%s: %s\n", calls[i].name, result < 0 ? strerror(errno) : "done");
        got_through = 1;
    }
    if (!got_through) puts("held");
    return got_through;
}
