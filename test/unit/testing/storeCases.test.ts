import { test } from 'vitest'
import { memoryStore } from '../../../src/store/memoryStore.js'
import { storeCases } from '../../../src/testing/storeCases.js'

const store = memoryStore()

for (const { name, run } of storeCases) test(name, () => run(() => store))
