/**
 * Replies that reach each row of the packaged table, written for this purpose after the replies that the source of the row describes.
 * A line has the row, what it suppresses, the phase, the host, and the reply.
 */
export const ROW_EXAMPLES = `
marked-policy|never|rcpt||553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)
mailbox-full|never|rcpt||550 5.1.1 user is over quota (#5.1.1)
message-size|never|dot||552 5.2.3 message size exceeds the limit of this server
greylisted|never|rcpt||450 4.2.0 Greylisted, come back
rate-of-recipient-or-sender|never|rcpt||550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents delivery
too-many-recipients|never|rcpt||452 4.5.3 Too many recipients
blocklist-name|never|rcpt||553 https://www.spamhaus.org/query/ip/192.0.2.1
blocklist|never|rcpt||550 5.2.1 Mailbox unavailable, listed on a public blacklist
authentication-of-sender|never|rcpt||550 5.1.0 192.0.2.1 may not send for this domain per its SPF Record
your-host|never|rcpt||550 5.1.1 Your IP is not wanted
sender|never|rcpt||550 5.1.0 <b+x@bounce.example> sender rejected
sender-in-other-languages|never|rcpt||550 5.1.1 Remitente bloqueado
relaying-denied|never|rcpt||550 5.1.1 Relaying denied
content|never|dot||554 5.1.1 A virus was found
spam|never|dot||550 5.1.1 This looks like spam
wishes-of-the-reader|never|rcpt||550 5.1.1 Refused due to recipient preferences
rule-of-the-receiver|never|rcpt||550 5.1.1 Members only
mail-loop|never|rcpt||554 5.1.1 This is a mail loop
tls-required|never|rcpt||530 5.1.1 Must issue a STARTTLS command first
state-of-the-server|never|rcpt||550 5.1.1 Address could not be verified
google-rate|never|dot|aspmx.l.google.com|421 4.7.28 Not now
google-ptr|never|dot|aspmx.l.google.com|550 5.7.25 Not accepted
google-spf-record|never|dot|aspmx.l.google.com|550 5.7.24 Not accepted
google-unauthenticated|never|dot|aspmx.l.google.com|550 5.7.26 Not accepted
google-spf|never|dot|aspmx.l.google.com|550 5.7.27 Not accepted
google-tls|never|dot|aspmx.l.google.com|550 5.7.29 Not accepted
google-dkim|never|dot|aspmx.l.google.com|550 5.7.30 Not accepted
google-dmarc|never|dot|aspmx.l.google.com|550 5.7.40 Not accepted
google-alignment|never|dot|aspmx.l.google.com|550 5.7.32 Not accepted
google-inactive|now|rcpt|aspmx.l.google.com|552 5.2.2 The account that you want is over quota and inactive
google-disabled|now|rcpt|aspmx.l.google.com|550 5.2.1 The email account that you tried to reach is disabled
google-no-such-user|now|rcpt|aspmx.l.google.com|550 5.1.1 The email account that you tried to reach does not exist
microsoft-authentication|never|dot||550 5.7.515 Access denied
microsoft-block|never|rcpt||550 5.7.511 Access denied
microsoft-access-denied|repeated|rcpt||550 5.4.1 Recipient address rejected: Access denied
microsoft-5-1-351|repeated|rcpt||550 5.1.351 Remote server returned an answer
microsoft-not-found|now|rcpt||550 5.1.10 RESOLVER.ADR.RecipientNotFound
microsoft-hotmail-unavailable|repeated|rcpt||550 5.5.0 Requested action not taken: mailbox unavailable
microsoft-no-domain|repeated|dsn||550 5.4.310 DNS domain missing
cisco-address-rejected|repeated|rcpt||550 #5.1.0 Address rejected.
yahoo-no-account|repeated|dot||554 dd This user doesn't have a yahoo.com account
yahoo-mailbox-not-found|repeated|rcpt||552 1 Requested mail action aborted, mailbox not found
yahoo-disabled|now|dot||554 30 Sorry, this mailbox is disabled (554.30)
carrier-unknown-user|repeated|rcpt|mfsmax.docomo.ne.jp|550 Unknown user
yandex-no-such-user|now|rcpt|mx.yandex.ru|550 5.7.1 No such user!
suppression-list|repeated|dsn||550 5.1.1 The address is on the suppression list of the service
bad-address-doubtful|repeated|rcpt||550 5.1.1 Access denied
mailbox-bad-address|now|rcpt||550 5.1.1 No
other-address-status-unknown-user|now|rcpt||550 5.1.0 User unknown
told-null-mx|repeated|dsn||5.1.0 Domain rcpt.example does not accept mail (nullMX)
other-address-status|never|rcpt||550 5.1.0 No
domain-bad-address|now|rcpt||550 5.1.2 No
address-syntax|now|rcpt||553 5.1.3 No
address-moved|now|rcpt||551 5.1.6 No
null-mx|now|rcpt||556 5.1.10 No
sender-address|never|mail||550 5.1.8 No
other-address|never|rcpt||550 5.1.5 No
mailbox-disabled|now|rcpt||550 5.2.1 This account is not active
mailbox-disabled-word|now|rcpt||550 5.2.1 Disabled
mailbox-disabled-unknown-user|now|rcpt||550 5.2.1 No such user
mailbox-accepts-no-mail|repeated|rcpt||550 5.2.1 No
mailbox-quota|never|rcpt||552 5.2.2 No
mailbox-size|never|dot||552 5.3.4 No
mailbox-status-unknown-user|repeated|rcpt||550 5.2.0 User unknown
mailbox-status|never|rcpt||550 5.2.0 No
system-full|never|rcpt||452 4.3.1 No
system-takes-no-mail|now|rcpt||521 5.3.2 No
system-status|never|rcpt||554 5.3.5 No
no-host|repeated|dsn||5.4.4 Host or domain name not found
no-route|never|dsn||5.4.4 No
routing-loop|never|dsn||5.4.6 No
delivery-expired|never|dsn||5.4.7 No
network-status|never|dsn||5.4.1 No
too-many-recipients-code|never|rcpt||452 4.5.3 No
protocol-status|never|rcpt||554 5.5.2 No
utf8-addresses|never|rcpt||550 5.6.7 No
content-status|never|dot||554 5.6.0 No
mailbox-disabled-for-policy|now|rcpt||525 5.7.13 No
mailbox-owner-changed|now|rcpt||550 5.7.17 No
domain-owner-changed|now|rcpt||550 5.7.18 No
dkim|never|dot||550 5.7.20 No
spf|never|rcpt||550 5.7.23 No
reverse-dns|never|rcpt||550 5.7.25 No
several-authentications|never|dot||550 5.7.26 No
sender-null-mx|never|rcpt||550 5.7.27 No
mail-flood|never|rcpt||550 5.7.28 No
arc|never|dot||550 5.7.29 No
requiretls|never|dot||550 5.7.30 No
policy-status-unknown-user|repeated|rcpt||550 5.7.1 No such user
policy-status-unknown-user|repeated|rcpt||553 that address is on our badrcptto list, such as this user not found (#5.7.1)
first-contact|never|rcpt||451 4.7.1 No
content-policy|never|dot||550 5.7.1 No
security-status|never|rcpt||550 5.7.1 No
protocol-error|never|rcpt||503 No
no-mail-for-domain|now|rcpt||556 No
host-takes-no-mail|now|rcpt||521 No
host-takes-no-mail-reported|repeated|dsn||521 No
connection-refused|never|banner||554 No
service-closing|never|rcpt||421 No
system-storage|never|rcpt||452 No
refused-unknown-user|now|rcpt||550 No such user here
refused-inactive|now|rcpt||550 Account closed
refused-unknown-user-late|repeated|dot||550 User unknown
refused-inactive-late|repeated|dot||550 Account disabled
refused-suspended|repeated|rcpt||550 User suspended
told-unknown-user|repeated|dsn||5.0.0 unknown user
refused-unavailable|repeated|rcpt||550 Requested action not taken: mailbox unavailable
refused-unrouteable|repeated|dsn||550 Unrouteable address
told-no-domain|repeated|dsn||5.0.0 Domain does not exist
told-unrouteable|repeated|dsn||5.0.0 Unrouteable address
refused-does-not-exist|repeated|rcpt||550 <bob@rcpt.example> does not exist
recipient-no-domain|repeated|rcpt||550 Unknown host
refused-user-not-local|never|rcpt||553 No
refused-storage|never|rcpt||552 No
sender-syntax|never|mail||501 No
refused-address|repeated|rcpt||550 No
refused-message|never|dot||554 No
`;

/** Replies that suppressed healthy readers, with variants of each: none may suppress, neither at once nor after repetition. */
export const ABOUT_OTHERS = [
  '553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)',
  '553 5.1.1 sorry, your envelope sender is in my badmailfrom list',
  "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
  '553 5.1.1 This host is not in my rcpthosts',
  '553 https://www.spamhaus.org/query/ip/192.0.2.1',
  '550 5.1.1 see http://www.spamcop.net/bl.shtml?192.0.2.1',
  '550 5.1.0 <b+token@bounce.example> sender rejected',
  '550 5.1.1 <b+token@bounce.example>: Sender address rejected: not logged in',
  '550 5.1.0 Sender denied',
  '550 5.2.1 Sender refused by the recipient',
  "550 5.1.0 192.0.2.1 is not allowed to send from <live.example> per it's SPF Record",
  '550 5.1.1 DKIM did not pass',
  '550-5.2.1 The user you are trying to contact is receiving mail at a rate that 550 5.2.1 prevents additional messages',
  '550 5.1.1 too many messages per hour',
  '550 Verification failed for <b+token@bounce.example>',
  '550 5.2.1 Mailbox unavailable. Your IP address 192.0.2.1 is blacklisted',
  '550 5.1.1 Your server is on our block list',
  '550 Requested action not taken: mailbox unavailable. Sender address is not allowed.',
  '550 mailbox unavailable: return path is invalid',
  '550 5.1.1 <a@rcpt.example> sent to too many recipients this hour',
  '550 5.1.1 User unknown; message blocked by policy',
  '550 No such user in our policy: relaying denied',
  '550 Could not verify sender, the answer was: 550 user unknown',
  '550 Callback for <b+token@bounce.example> failed: no such user',
  '550 Return address does not exist',
  '550 5.1.1 Sender user unknown',
  '550 5.1.1 Unknown user in MAIL FROM',
  '550 5.1.1 BATV token is missing',
  '550 5.1.1 No PTR, and we could not find your hostname',
  '550 5.1.1 The mailbox does not have enough space',
  '550 5.1.1 The quota of the disc is used up',
  '550 5.1.1 Postfach überfüllt',
  '550 5.1.1 La boîte aux lettres est pleine',
  '550 5.1.1 Buzón de correo lleno',
  '550 5.1.1 Ящик переполнен',
  '550 5.1.1 邮箱已满',
  '550 5.1.1 メールボックスがいっぱいです',
  '550 5.1.1 Expéditeur refusé',
  '550 5.1.1 Отправитель заблокирован',
  '550 5.1.1 发件人被拒收',
  '550 5.1.1 Mail goes in a loop here',
  '550 5.1.1 Not on the allow list of this recipient',
  '550 5.1.1 Your account has been disabled for sending',
];

/** Replies about dead addresses that never suppressed, with variants, and what each suppresses now. */
export const DEAD = [
  [
    'repeated',
    '550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [mail.eur.outlook.example]',
  ],
  ['repeated', '550 5.4.1 [bob@rcpt.example]: Recipient address rejected: Access denied'],
  ['repeated', '550 5.1.4 Recipient address rejected: Access denied'],
  ['repeated', '550 5.1.351 Remote server returned unknown recipient or mailbox unavailable'],
  ['repeated', '550 #5.1.0 Address rejected. bob@rcpt.example'],
  ['repeated', '550 5.1.0 Address rejected'],
  ['repeated', "554 delivery error: dd This user doesn't have a yahoo.com account (bob@yahoo.com) [0]"],
  ['repeated', '554 dd Sorry, this user does not have a ymail.com account'],
  ['repeated', '552 1 Requested mail action aborted, mailbox not found'],
  ['repeated', '550 5.5.0 Requested action not taken: mailbox unavailable'],
  ['now', '550 5.1.1 <bob@rcpt.example>: Recipient address rejected: nothing here'],
  ['now', '550 5.1.1 Access denied: no such user'],
  ['now', '550 5.1.1 邮箱不存在'],
  ['now', '550 Unknown e-mail address'],
  ['now', '550 There is no bob in name directory'],
  ['repeated', '550 No valid recipients, bye'],
  ['repeated', '551 The recipient has moved'],
  ['now', '550 User unknown'],
  ['now', '550 <bob@rcpt.example>: User unknown in virtual mailbox table'],
] as const;

/** For each veto, a reply about the recipient that has its words elsewhere, and still suppresses at once. */
export const COUNTER_EXAMPLES = `
marked-policy|550 no mailbox here by that name (#5.1.1)
mailbox-full|550 5.1.1 <full@quota.example.com> User unknown
message-size|550 5.1.1 User unknown (see https://size-limit.example/message-too-large)
greylisted|550 5.1.1 <greylist@rcpt.example>: User unknown
rate-of-recipient-or-sender|550 5.1.1 <rate@limit.example>: User unknown, see http://rate.limit.example/per-hour
too-many-recipients|550 5.1.1 Recipient not found, and the message had one recipient
blocklist-name|550 5.1.1 <bob@spamhaus.org>: User unknown
blocklist|550 5.1.1 User bob not listed in the directory
authentication-of-sender|550 5.1.1 <spf@rcpt.example>: User unknown in mx.dkim.example.net
your-host|550 5.1.1 The host has no user of this name
sender|550 5.1.1 User unknown, message returned to sender
sender-in-other-languages|550 5.1.1 <remitente@rcpt.example>: User unknown
relaying-denied|550 5.1.1 <bob@rcpt.example>: User unknown in relay recipient table
content|550 5.1.1 <virus@rcpt.example>: User unknown
spam|550 5.1.1 <spam@rcpt.example>: User unknown at mx.spam.example.net
wishes-of-the-reader|550 5.1.1 The recipient prefers nothing: unknown user
rule-of-the-receiver|550 5.1.1 User unknown, see https://rcpt.example/policy
mail-loop|550 5.1.1 <loop@hops.example>: User unknown
tls-required|550 5.1.1 User unknown at starttls.rcpt.example
state-of-the-server|550 5.1.1 User unknown in database.rcpt.example
`;
