#pragma once

// What rays meet: spheres and planes of four materials, under a sky. Lengths have no unit; light has red, green and
// blue.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

namespace RayCompaction {

struct Vec3 {
    float x, y, z;
};
__host__ __device__ constexpr Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__host__ __device__ constexpr Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__host__ __device__ constexpr Vec3 operator*(Vec3 a, Vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__host__ __device__ constexpr Vec3 operator*(float s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
__host__ __device__ constexpr float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline Vec3 normalized(Vec3 a) { return (1 / std::sqrt(dot(a, a))) * a; }

/// Four numbers in [0, 1).
struct Random {
    float u, v, w, x;
};

/// The numbers of a pixel, a sample and a bounce: always the same, in whatever order threads ask. The hash is pcg4d
/// (Jarzynski and Olano, "Hash Functions for GPU Rendering", 2020).
__device__ inline Random randomOf(std::uint32_t pixel, std::uint32_t sample, std::uint32_t bounce) {
    std::uint32_t v[4] = {pixel, sample, bounce, 0};
    const auto mix = [&v] {
        v[0] += v[1] * v[3];
        v[1] += v[2] * v[0];
        v[2] += v[0] * v[1];
        v[3] += v[1] * v[2];
    };
    for (std::uint32_t& word : v) {
        word = word * 1664525u + 1013904223u;
    }
    mix();
    for (std::uint32_t& word : v) {
        word ^= word >> 16;
    }
    mix();
    const auto toUnit = [](std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; };
    return {toUnit(v[0]), toUnit(v[1]), toUnit(v[2]), toUnit(v[3])};
}

/// A path ends at an emitter. The others scatter light, and the rays are sorted by them.
enum class Material : std::uint8_t { Diffuse, Mirror, Glass, Emitter };
inline constexpr std::uint32_t scatteringMaterials = 3;

struct Surface {
    Material material;
    Vec3 color;  ///< what it reflects or lets through of white light; of an emitter, the light
};

struct Ray {
    Vec3 origin;
    Vec3 direction;  ///< of length 1

    [[nodiscard]] __device__ Vec3 at(float distance) const { return origin + distance * direction; }
};

/// Where a ray meets a surface.
struct Hit {
    float distance;
    Vec3 normal;  ///< of length 1
    Surface surface;
};

inline constexpr float nowhere = 1e30f;        ///< the distance of a surface that a ray misses
inline constexpr float leastDistance = 1e-3f;  ///< so that a ray does not meet the surface where it begins

struct Sphere {
    Vec3 center;
    float radius;
    Surface surface;

    [[nodiscard]] __device__ float distanceAlong(const Ray& ray) const {
        const Vec3 toCenter = center - ray.origin;
        const float middle = dot(toCenter, ray.direction);
        const float discriminant = middle * middle - dot(toCenter, toCenter) + radius * radius;
        if (discriminant < 0) {
            return nowhere;
        }
        const float half = std::sqrt(discriminant);
        const float near = middle - half;
        const float far = middle + half;
        return near > leastDistance ? near : far > leastDistance ? far : nowhere;
    }
    [[nodiscard]] __device__ Vec3 normalAt(Vec3 point) const { return (1 / radius) * (point - center); }
};

/// The points p with dot(normal, p) == offset.
struct Plane {
    Vec3 normal;  ///< of length 1
    float offset;
    Surface surface;

    [[nodiscard]] __device__ float distanceAlong(const Ray& ray) const {
        const float distance = (offset - dot(normal, ray.origin)) / dot(normal, ray.direction);
        return distance > leastDistance ? distance : nowhere;
    }
    [[nodiscard]] __device__ Vec3 normalAt(Vec3) const { return normal; }
};

/// A kernel takes the scene as an argument, so it is small.
struct Scene {
    Plane planes[2] = {
        {{0, 1, 0}, 0, {Material::Diffuse, {0.7f, 0.68f, 0.65f}}},   // the floor
        {{0, 0, 1}, -5, {Material::Diffuse, {0.35f, 0.45f, 0.6f}}},  // a wall
    };
    Sphere spheres[8] = {
        {{-1.7f, 1, -1}, 1, {Material::Mirror, {0.9f, 0.8f, 0.65f}}},
        {{0.2f, 0.75f, 0.6f}, 0.75f, {Material::Glass, {0.97f, 0.99f, 0.98f}}},
        {{2, 1, -0.9f}, 1, {Material::Diffuse, {0.8f, 0.2f, 0.15f}}},
        {{0.3f, 0.6f, -2}, 0.6f, {Material::Diffuse, {0.15f, 0.5f, 0.25f}}},
        {{-0.9f, 0.35f, 0.7f}, 0.35f, {Material::Diffuse, {0.85f, 0.6f, 0.1f}}},
        {{1.3f, 0.3f, 0.9f}, 0.3f, {Material::Mirror, {0.95f, 0.95f, 0.95f}}},
        {{-1.8f, 0.3f, 1}, 0.3f, {Material::Emitter, {3, 2.2f, 1.4f}}},
        {{0.9f, 0.2f, 1.6f}, 0.2f, {Material::Emitter, {1.4f, 2, 3}}},
    };

    /// The nearest surface; its distance is `nowhere` if there is none.
    [[nodiscard]] __device__ Hit nearest(const Ray& ray) const {
        Hit hit{nowhere, {}, {}};
        const auto meet = [&](const auto& object) {
            if (const float distance = object.distanceAlong(ray); distance < hit.distance) {
                hit = {distance, object.normalAt(ray.at(distance)), object.surface};
            }
        };
        for (const Plane& plane : planes) {
            meet(plane);
        }
        for (const Sphere& sphere : spheres) {
            meet(sphere);
        }
        return hit;
    }
};

/// The light that comes from the sky, from where a ray points.
__device__ inline Vec3 sky(Vec3 direction) {
    const float height = 0.5f * (direction.y + 1);
    return (1 - height) * Vec3{0.9f, 0.8f, 0.7f} + height * Vec3{0.7f, 0.85f, 1.1f};
}

__device__ inline Vec3 reflected(Vec3 direction, Vec3 normal) {
    return direction - 2 * dot(direction, normal) * normal;
}

/// A direction whose density is proportional to its cosine with the normal, as a diffuse surface scatters light.
__device__ inline Vec3 diffused(Vec3 normal, const Random& random) {
    // A point on a sphere around the tip of the normal. It is a little smaller, so that the sum is never 0.
    const float z = 1 - 2 * random.u;
    const float radius = std::sqrt(1 - z * z);
    const float angle = 6.2831853f * random.v;
    return normalized(normal + 0.999f * Vec3{radius * std::cos(angle), radius * std::sin(angle), z});
}

/// Through glass by Snell's law, or reflected. The probability is Schlick's approximation of Fresnel's equations.
__device__ inline Vec3 refracted(Vec3 direction, Vec3 normal, bool enters, const Random& random) {
    const float ratio = enters ? 1 / 1.5f : 1.5f;  // of the refractive indices
    const float cosine = -dot(direction, normal);
    const float squaredSine = ratio * ratio * (1 - cosine * cosine);
    if (squaredSine >= 1) {
        return reflected(direction, normal);
    }
    const float cosineBehind = std::sqrt(1 - squaredSine);
    const float grazing = 1 - (enters ? cosine : cosineBehind);
    const float reflectance = 0.04f + 0.96f * grazing * grazing * grazing * grazing * grazing;
    return random.w < reflectance ? reflected(direction, normal)
                                  : normalized(ratio * direction + (ratio * cosine - cosineBehind) * normal);
}

/// Where the light goes on that meets a surface.
__device__ inline Vec3 scattered(Vec3 direction, const Hit& hit, const Random& random) {
    const bool isOutside = dot(direction, hit.normal) < 0;
    const Vec3 facing = isOutside ? hit.normal : -1 * hit.normal;
    switch (hit.surface.material) {
        case Material::Diffuse:
            return diffused(facing, random);
        case Material::Glass:
            return refracted(direction, facing, isOutside, random);
        default:
            return reflected(direction, facing);
    }
}

}  // namespace RayCompaction
