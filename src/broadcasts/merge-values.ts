/** The values that a contact gives to the placeholders of a broadcast. */
import type { ContactRow } from '../db/marketing-tables.ts';
import type { VariableValue } from '../templates/render.ts';

type Named = Pick<ContactRow, 'email' | 'firstName' | 'lastName' | 'properties'>;

/**
 * Returns the values of a contact by the names of their placeholders. The fields of the contact win over properties with
 * the same names. A value of null lets the fallback of a placeholder apply.
 */
export function mergeValuesOf({
  email,
  firstName,
  lastName,
  properties,
}: Named): Record<string, VariableValue> {
  return { ...(JSON.parse(properties) as Record<string, VariableValue>), email, firstName, lastName };
}
