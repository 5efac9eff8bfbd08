import { type Hash, keccak256, stringToHex } from 'viem'
import { drawNonce } from '../../core/drawNonce.js'

/** Draws what a buyer proves to be the buyer with. */
export function drawBuyerToken(): string {
  return drawNonce().slice(2)
}

/** What is kept of a buyer's token; the token cannot be had from it. */
export function hashBuyerToken(buyerToken: string): Hash {
  return keccak256(stringToHex(buyerToken))
}
