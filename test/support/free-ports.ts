/** Settings with which a daemon of a test takes ports that are free, and offers no submission. */
export const FREE_PORTS = {
  POSTRIDER_HTTP_PORT: '0',
  POSTRIDER_SMTP_PORT: '0',
  POSTRIDER_SUBMISSION_ENABLED: 'false',
  POSTRIDER_IMAP_PORT: '0',
  POSTRIDER_MANAGESIEVE_PORT: '0',
  POSTRIDER_POP3_PORT: '0',
} as const;
