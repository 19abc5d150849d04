/* The one function of Windows's bcryptprimitives.dll that Rust's standard library calls. Wine 8 lacks the
   library. `cargo xtask dist --check` puts this one beside the program that it runs under Wine; no package
   contains it. */

#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T count)
{
    return RtlGenRandom(bytes, (ULONG)count);
}
