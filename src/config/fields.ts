/** Kinds of settings that sections of the configuration have in common. */
import { domainToASCII } from 'node:url';
import { type TSchema, Type } from 'typebox';

/** Maximum number of connections that a listener can be allowed. */
const MAX_CONNECTIONS = 100_000;
/** A hundred years. */
const MAX_RETENTION_DAYS = 36_500;

/** A TCP port. */
export const port = (value: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: value, description });
/** The number of connections that a listener keeps open. */
export const connections = (value: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_CONNECTIONS, default: value, description });
/** A number of days for which something is kept. */
export const days = (value: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS, default: value, description });
/** A section of the configuration, which may be left out. */
export const section = <Properties extends Record<string, TSchema>>(
  description: string,
  properties: Properties,
) => Type.Object(properties, { additionalProperties: false, default: {}, description });
/** The section of whatever accepts connections: where it listens, and its further settings. */
export const listener = <Properties extends Record<string, TSchema>>(
  description: string,
  defaults: { address: string; port: number },
  properties: Properties,
) =>
  section(description, {
    address: Type.String({ default: defaults.address, description: 'Address to listen on.' }),
    port: port(defaults.port, 'Port to listen on; 0 takes any free one.'),
    ...properties,
  });

/** Returns a configured domain in the form in which the domains of recipients are compared: in lower case and A-labels. */
export function routeDomain(domain: string): string {
  return domainToASCII(domain).replace(/\.$/, '');
}
