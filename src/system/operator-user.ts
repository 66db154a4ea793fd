/** Names the user at the command line to the daemon. The permissions of the control socket decide who may ask; the name is for the audit log. */

/** Header of requests to the control socket, with the name of a user of the operating system, percent-encoded. */
export const OPERATOR_USER_HEADER = 'x-operator-user';
