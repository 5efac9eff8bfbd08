import { expect, test } from 'vitest'
import {
  compileContracts,
  staleContracts,
} from '../../../scripts/compileContracts.js'

test('the checked-in code is what the Solidity and Yul sources compile to', () => {
  expect(staleContracts(compileContracts())).toEqual([])
})
