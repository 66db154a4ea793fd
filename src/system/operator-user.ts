/** Names the person at the command line to the daemon. The permissions of the control socket decide who may ask; the name is for the audit log. */
import { userInfo } from 'node:os';

/** Header of requests to the control socket, with the name of a user of the operating system, percent-encoded. */
export const OPERATOR_USER_HEADER = 'x-operator-user';

/** Returns the name of the user who runs this process, or of the one who has become root with sudo. */
export function operatorUser(environment: { SUDO_USER?: string }): string {
  const { SUDO_USER } = environment;
  if (SUDO_USER) return SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    // A container may run as a number that no user has.
    return String(process.getuid?.() ?? '');
  }
}
