/**
 * Which of SQLite's errors end the process. After one failed flush it may answer ok to commits that are lost, so nothing
 * more is acknowledged. SQLITE_FULL is not among them: nothing was written.
 */
export function isBrokenStorage(code: string): boolean {
  return /^SQLITE_(IOERR|CORRUPT|NOTADB)(_|$)/.test(code);
}
