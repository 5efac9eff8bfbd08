// The entry whose types name those of another package.
import { deepEqual } from 'node:assert/strict'
import * as x402 from 'countersign/x402'

deepEqual(typeof x402.createX402Gate, 'function')
