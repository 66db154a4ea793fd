/** The paths at which mail programs look for settings. */

/** Paths of Autoconfig, at a host of its own and at the domain itself (draft-ietf-mailmaint-autoconfig). */
export const AUTOCONFIG_PATHS = [
  '/mail/config-v1.1.xml',
  '/.well-known/autoconfig/mail/config-v1.1.xml',
] as const;
/** Path of Autodiscover (MS-OXDISCO section 3.1.5). */
export const AUTODISCOVER_PATH = '/autodiscover/autodiscover.xml';
/** Path of Autodiscover in JSON. */
export const AUTODISCOVER_JSON_PATH = '/autodiscover/autodiscover.json';
/** First part of the path of its second version, which the address follows. */
export const AUTODISCOVER_V2_PATH = `${AUTODISCOVER_JSON_PATH}/v1.0`;
/** Path of the profiles for Apple devices. Ours: it is in the links that we show. */
export const PROFILE_PATH = '/profile.mobileconfig';
/** Path of the JSON of draft-ietf-mailmaint-pacc. */
export const USER_AGENT_PATH = '/.well-known/user-agent-configuration.json';

const EXACT: ReadonlySet<string> = new Set([
  ...AUTOCONFIG_PATHS,
  ...[AUTODISCOVER_PATH, AUTODISCOVER_JSON_PATH, PROFILE_PATH, USER_AGENT_PATH],
]);

/** Returns true for a path of discovery, in any case. */
export function isDiscoveryPath(path: string): boolean {
  const lower = path.toLowerCase();
  return EXACT.has(lower) || lower.startsWith(`${AUTODISCOVER_V2_PATH}/`);
}
