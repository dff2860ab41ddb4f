# SPDX-License-Identifier: BSD-3-Clause
"""Some work with JAX: a compiled function, called again and again."""
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.tanh(x @ x.T) @ x


value = jnp.ones((256, 256)) / 256
for _ in range(50):
    value = step(value)
print(float(value.block_until_ready()[0, 0]))
