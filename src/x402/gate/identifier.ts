import type { PaymentPayload } from '@x402/core/types'
import { hashText } from '../../core/hashText.js'
import { isObject } from '../wire/headers.js'

/**
 * Name of the x402 extension by which a client gives each payment an id of its
 * own.
 */
export const identifierName = 'payment-identifier'

const form = /^[A-Za-z0-9_-]{16,128}$/

/** Builds the part of a 402 answer that offers the extension to clients. */
export function declareIdentifier(isRequired: boolean): object {
  return {
    info: { required: isRequired },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: {
          type: 'string',
          minLength: 16,
          maxLength: 128,
          pattern: '^[a-zA-Z0-9_-]+$',
        },
      },
      required: ['required'],
    },
  }
}

/**
 * Returns the identifier that a client sent, and `false` if it is malformed.
 */
export function parseIdentifier({
  extensions,
}: PaymentPayload): string | undefined | false {
  const given = Object(extensions)[identifierName]
  if (given === undefined || given === null) return undefined
  const { id } = isObject(given) ? Object(given.info) : Object()
  if (id === undefined) return undefined
  return typeof id === 'string' && form.test(id) ? id : false
}

/**
 * Key of the store's record that says which payment uses an identifier. It
 * contains the payer, so that nobody can occupy or look up the identifiers of
 * another payer.
 */
export function identifierKey(payer: string, identifier: string): string {
  return `x402:identifier:${hashText(`${payer} ${identifier}`)}`
}
