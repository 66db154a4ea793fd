/** The values that a contact gives to the placeholders of a broadcast. */
import { forTextFields, type TextFieldName } from '../audiences/contacts/text-fields.ts';
import type { ContactRow } from '../db/marketing-tables.ts';
import type { VariableValue } from '../templates/render.ts';

type Named = Pick<ContactRow, 'email' | TextFieldName | 'properties'>;

/**
 * Returns the values of a contact by the names of their placeholders. The fields of the contact win over properties with
 * the same names. A value of null lets the fallback of a placeholder apply.
 */
export function mergeValuesOf(contact: Named): Record<string, VariableValue> {
  const properties = JSON.parse(contact.properties) as Record<string, VariableValue>;
  return { ...properties, email: contact.email, ...forTextFields((name) => contact[name]) };
}
