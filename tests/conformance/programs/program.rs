// What rustc makes of names, generics and inlined functions; threads that Rust starts.
use std::arch::asm;

mod deep {
    use super::asm;

    #[inline(always)]
    fn inlined(times: u64) {
        let mut left = times;
        while left > 0 { unsafe { asm!("", options(nomem, nostack)) }; left -= 1; } /* at program::deep::inlined */
    }

    #[inline(never)]
    pub fn hot_rust(times: u64) {
        inlined(times); /* at program::deep::hot_rust */
        unsafe { asm!("", options(nomem, nostack)) };
    }

    #[inline(never)]
    pub fn middle<T: Into<u64>>(n: T) {
        hot_rust(n.into()); /* at program::deep::middle at program::deep::middle::<u32> */
        unsafe { asm!("", options(nomem, nostack)) };
    }
}

/* chain: (program::deep::inlined) <- program::deep::hot_rust <- program::deep::middle::<u32> if v0 <- program::deep::middle if not v0 <- program::main <- ... <- main@any <- ... <- _start -- rust */
fn main() {
    deep::middle::<u32>(100_000_000); /* at program::main */
    unsafe { asm!("", options(nomem, nostack)) };
}
