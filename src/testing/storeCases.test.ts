import { test } from 'vitest'
import { memoryStore } from '../store/memoryStore.js'
import { storeCases } from './storeCases.js'

const store = memoryStore()

for (const { name, run } of storeCases) test(name, () => run(() => store))
