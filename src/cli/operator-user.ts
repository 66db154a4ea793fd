/** Tells who runs a command. */
import { userInfo } from 'node:os';

/** Returns the name of the user who runs this process, or of the one who has become root with sudo. */
export function operatorUser({ SUDO_USER }: NodeJS.ProcessEnv): string {
  if (SUDO_USER) return SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    // A container may run as a number that no user has.
    return String(process.getuid?.() ?? '');
  }
}
