/** Time zones by their names in the IANA database. */

/** Returns true for the name of a time zone that this system knows. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
